"""Types of the native engine; see cpp/bindings."""

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
UInts32 = npt.NDArray[np.uint32]
UInts64 = npt.NDArray[np.uint64]
UInts8 = npt.NDArray[np.uint8]

FEATURE_MASK: int
MISSING_LEFT: int
CATEGORICAL: int

def available_threads() -> int: ...
def shutdown_threads() -> None: ...

class Table:
    def __init__(
        self,
        values: npt.NDArray[Any],
        n_rows: int,
        n_features: int,
        indices: npt.NDArray[np.int32] | None = None,
        indptr: npt.NDArray[np.int64] | None = None,
        by_row: bool = True,
    ) -> None: ...

class BinnedMatrix:
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def layout(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    def code(self, row: int, feature: int) -> int: ...
    def add_columns(self, n_threads: int = 1) -> None: ...
    def spread_rows(self, n_threads: int = 1, n_drawn: int = 0) -> None: ...

class BinMapper:
    @staticmethod
    def fit(
        table: Table,
        weight: Floats | None,
        max_bins: int,
        n_levels: Sequence[int],
        seed: int,
        n_threads: int,
    ) -> BinMapper: ...
    def transform(self, table: Table, n_threads: int) -> BinnedMatrix: ...
    @property
    def n_features(self) -> int: ...
    def n_bins(self, feature: int) -> int: ...
    def cuts(self, feature: int) -> Floats: ...

class Criterion(Enum):
    gini = ...
    entropy = ...
    gain_ratio = ...
    normalized_gain = ...
    error = ...
    exponential = ...
    squared_error = ...
    absolute_error = ...
    poisson = ...
    newton = ...

class SplitRule(Enum):
    best = ...
    random = ...

class Growth(Enum):
    depth_first = ...
    best_first = ...
    level = ...
    symmetric = ...

class TreeParams:
    criterion: Criterion
    rule: SplitRule
    growth: Growth
    max_depth: int
    max_leaves: int
    min_rows_split: int
    min_rows_leaf: int
    min_weight_leaf: float
    min_gain: float
    node_features: int
    tree_features: int
    level_features: int
    multiway: bool
    in_parts: bool
    charged_cuts: bool
    l2: float
    l1: float
    least_hessian: float
    max_value: Sequence[float]
    monotone: Sequence[int]
    interactions: Sequence[Sequence[int]]
    retire: bool
    seed: int

class Stats:
    @staticmethod
    def classes(
        codes: UInts32, n_classes: Sequence[int], weight: Floats | None, counted: bool = False
    ) -> Stats: ...
    @staticmethod
    def divisible(codes: UInts32, n_classes: Sequence[int], weight: Floats | None) -> Stats: ...
    @staticmethod
    def shares(
        codes: UInts32, n_classes: Sequence[int], weight: Floats, n_threads: int = 1
    ) -> Stats: ...
    @staticmethod
    def regression(
        y: Floats, weight: Floats | None, centred: bool = True, counted: bool = False
    ) -> Stats: ...
    @staticmethod
    def newton(
        gradient: Floats, hessian: Floats, bits: int = 16, counted: bool = False
    ) -> Stats: ...
    @staticmethod
    def gradients(
        gradient: npt.NDArray[np.float32],
        hessian: npt.NDArray[np.float32] | None,
        rows: UInts32 | None = None,
        n_threads: int = 1,
    ) -> Stats: ...
    @staticmethod
    def vector_gradients(
        gradient: npt.NDArray[np.float32],
        hessian: npt.NDArray[np.float32] | None,
        rows: UInts32 | None = None,
        n_threads: int = 1,
    ) -> Stats: ...
    @property
    def width(self) -> int: ...

class Forest:
    @staticmethod
    def from_arrays(
        n_features: int,
        n_outputs: int,
        tree_begin: UInts64,
        threshold: Floats,
        feature: UInts32,
        left: UInts32,
        values: Floats,
        set_begin: UInts64,
        set_words: UInts64,
        gain: Floats,
        impurity: Floats,
        weight: Floats,
        count: UInts64,
    ) -> Forest: ...
    @staticmethod
    def concatenate(forests: Sequence[Forest]) -> Forest: ...
    def slice(self, begin: int, end: int) -> Forest: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    def max_depth(self, tree: int) -> int: ...
    @property
    def tree_begin(self) -> UInts64: ...
    @property
    def threshold(self) -> Floats: ...
    @property
    def feature(self) -> UInts32: ...
    @property
    def left(self) -> UInts32: ...
    @property
    def values(self) -> Floats: ...
    @property
    def set_begin(self) -> UInts64: ...
    @property
    def set_words(self) -> UInts64: ...
    @property
    def gain(self) -> Floats: ...
    @property
    def impurity(self) -> Floats: ...
    @property
    def weight(self) -> Floats: ...
    @property
    def count(self) -> UInts64: ...
    def predict(
        self,
        table: Table,
        weight: Floats | None = None,
        intercept: Floats | None = None,
        n_threads: int = 1,
    ) -> Floats: ...
    def predict_in_parts(self, table: Table, n_threads: int = 1) -> Floats: ...
    def predict_members(self, table: Table, n_threads: int = 1) -> Floats: ...
    def predict_left_out(
        self, table: Table, left_out: UInts8, n_threads: int = 1
    ) -> tuple[Floats, UInts32]: ...
    def shap_values(
        self, table: Table, weight: Floats | None = None, n_threads: int = 1
    ) -> Floats: ...
    def shap_interactions(
        self, table: Table, weight: Floats | None = None, n_threads: int = 1
    ) -> Floats: ...
    def revalued(self, values: Floats) -> Forest: ...
    def votes(self, n_classes: Sequence[int]) -> Forest: ...
    def pack(self) -> bytes: ...
    @staticmethod
    def unpack(packed: bytes) -> Forest: ...
    def apply(self, table: Table, n_threads: int = 1) -> UInts32: ...
    def cost_complexity_path(self) -> tuple[Floats, Floats]: ...
    def pruned_by_cost(self, alpha: float) -> Forest: ...
    def pruned_by_pessimism(self, confidence: float) -> Forest: ...

def grow_tree(
    matrix: BinnedMatrix, mapper: BinMapper, stats: Stats, params: TreeParams, n_threads: int
) -> Forest: ...
def grow_tree_in_parts(
    matrix: BinnedMatrix, mapper: BinMapper, stats: Stats, params: TreeParams, n_threads: int
) -> Forest: ...
def grow_tree_with_rows(
    matrix: BinnedMatrix, mapper: BinMapper, stats: Stats, params: TreeParams, n_threads: int
) -> tuple[Forest, UInts32, UInts64, UInts32]: ...
def grow_tree_with_leaves(
    matrix: BinnedMatrix, mapper: BinMapper, stats: Stats, params: TreeParams, n_threads: int
) -> tuple[Forest, UInts32]: ...
def grow_tree_sharded(
    matrix: BinnedMatrix,
    mapper: BinMapper,
    stats: Stats,
    params: TreeParams,
    shards: Sequence[UInts32],
    n_threads: int,
) -> Forest: ...
def split_quality(criterion: Criterion, left: Floats, right: Floats) -> float: ...

class Draw(Enum):
    all = ...
    replace = ...
    subset = ...
    poisson = ...
    exponential = ...

def row_keys(matrix: BinnedMatrix, target: Floats, n_threads: int) -> UInts64: ...
def table_keys(table: Table, target: Floats, n_threads: int) -> UInts64: ...

class Bags:
    def __init__(
        self,
        keys: UInts64,
        *,
        draw: Draw,
        size: int,
        seed: int,
        units: UInts32 | None = None,
        weight: Floats | None = None,
        strata: UInts32 | None = None,
        groups: UInts32 | None = None,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def n_units(self) -> int: ...
    def weights(self, member: int) -> Floats: ...
    def left_out(self, begin: int, end: int, n_threads: int) -> UInts8: ...

class Target:
    @staticmethod
    def classes(
        codes: UInts32,
        n_classes: Sequence[int],
        factor: Floats | None = None,
        balanced: bool = False,
    ) -> Target: ...
    @staticmethod
    def regression(y: Floats, factor: Floats | None = None, centred: bool = True) -> Target: ...

def grow_forest(
    matrix: BinnedMatrix,
    mapper: BinMapper,
    target: Target,
    bags: Bags,
    params: TreeParams,
    begin: int,
    end: int,
    n_threads: int,
) -> tuple[Forest, Floats]: ...
def distribution(log_weight: Floats, n_threads: int = 1) -> Floats: ...
def lambda_gradients(
    score: Floats,
    relevance: Floats,
    begin: npt.NDArray[np.int64],
    *,
    k: int | None = None,
    linear: bool = False,
    sigmoid: float = 1.0,
    normalize: bool = True,
    n_threads: int = 1,
) -> tuple[Floats, Floats]: ...
def pairwise_gradients(
    score: Floats,
    relevance: Floats,
    begin: npt.NDArray[np.int64],
    *,
    sigmoid: float = 1.0,
    n_threads: int = 1,
) -> tuple[Floats, Floats]: ...
def pairwise_values(
    score: Floats,
    relevance: Floats,
    begin: npt.NDArray[np.int64],
    *,
    sigmoid: float = 1.0,
    n_threads: int = 1,
) -> Floats: ...
def ndcg(
    score: Floats,
    relevance: Floats,
    begin: npt.NDArray[np.int64],
    *,
    k: int | None = None,
    linear: bool = False,
    n_threads: int = 1,
) -> Floats: ...

class RuleKind(Enum):
    real = ...
    abstaining = ...
    discrete = ...

class WordSearch:
    def __init__(
        self,
        word_begin: npt.NDArray[np.int64],
        word_rows: npt.NDArray[np.int32],
        has_label: UInts8,
        kind: RuleKind,
    ) -> None: ...
    def best(self, weight: Floats) -> int: ...
    @property
    def looked_at(self) -> int: ...

class LossKind(Enum):
    squared = ...
    absolute = ...
    huber = ...
    quantile = ...
    poisson = ...
    gamma = ...
    tweedie = ...
    logistic = ...
    exponential = ...
    multinomial = ...

class Loss:
    def __init__(
        self, kind: LossKind, parameter: float = 0.0, levels: Sequence[float] = ()
    ) -> None: ...
    @property
    def kind(self) -> LossKind: ...
    @property
    def parameter(self) -> float: ...
    @property
    def levels(self) -> list[float]: ...
    @property
    def has_unit_hessian(self) -> bool: ...

def gradients(
    loss: Loss,
    y: Floats,
    raw: Floats,
    output: int,
    weight: Floats | None,
    gradient: npt.NDArray[np.float32],
    hessian: npt.NDArray[np.float32] | None,
    n_threads: int = 1,
) -> None: ...
def add_leaves(
    leaf: UInts32, value: Floats, scale: float, raw: Floats, n_threads: int = 1
) -> None: ...
def boost(
    matrix: BinnedMatrix,
    mapper: BinMapper,
    loss: Loss,
    y: Floats,
    weight: Floats | None,
    row_key: UInts64 | None,
    raw: Floats,
    params: TreeParams,
    learning_rate: float,
    subsample: float,
    first: int,
    n_rounds: int,
    n_threads: int = 1,
    gradient_based: bool = False,
    n_parallel: int = 1,
    column_loss: Sequence[Loss] = ...,
    vector_leaves: bool = False,
) -> list[Forest]: ...
def tree_seed(seed: int, number: int, output: int) -> int: ...
def rows_of_round(
    seed: int, number: int, row_key: UInts64, share: float, n_threads: int = 1
) -> UInts32: ...

class GradientDraw:
    def __init__(self, n_rows: int) -> None: ...
    def add(self, gradient: Floats32, hessian: Floats32 | None, n_threads: int = 1) -> None: ...
    def settle(self, share: float, n_threads: int = 1) -> None: ...
    def rows(self, seed: int, number: int, row_key: UInts64, n_threads: int = 1) -> UInts32: ...
    def weighed(
        self, rows: UInts32, gradient: Floats32, hessian: Floats32 | None, n_threads: int = 1
    ) -> tuple[Floats32, Floats32]: ...
    @property
    def chance(self) -> Floats: ...

class LeafLedger:
    def __init__(self, n_rows: int) -> None: ...
    @property
    def n_trees(self) -> int: ...
    def add(self, leaf: UInts32, value: Floats) -> None: ...
    def sum(self, weight: Floats, raw: Floats, n_threads: int = 1) -> None: ...

def boost_linear(
    matrix: BinnedMatrix,
    mapper: BinMapper,
    loss: Loss,
    y: Floats,
    weight: Floats | None,
    row_key: UInts64 | None,
    raw: Floats,
    params: TreeParams,
    learning_rate: float,
    subsample: float,
    first: int,
    n_rounds: int,
    n_threads: int,
    gradient_based: bool,
    n_parallel: int,
    column_loss: Sequence[Loss],
    table: Table,
    slope_l2: float,
) -> list[LinearForest]: ...

class LinearForest:
    @staticmethod
    def from_arrays(
        trees: Forest,
        begin: UInts64,
        level: Floats,
        feature: UInts32,
        slope: Floats,
        low: Floats,
        high: Floats,
    ) -> LinearForest: ...
    @staticmethod
    def concatenate(forests: Sequence[LinearForest]) -> LinearForest: ...
    def slice(self, begin: int, end: int) -> LinearForest: ...
    @property
    def trees(self) -> Forest: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def begin(self) -> UInts64: ...
    @property
    def level(self) -> Floats: ...
    @property
    def feature(self) -> UInts32: ...
    @property
    def slope(self) -> Floats: ...
    @property
    def low(self) -> Floats: ...
    @property
    def high(self) -> Floats: ...
    def predict(
        self,
        table: Table,
        weight: Floats | None = None,
        intercept: Floats | None = None,
        n_threads: int = 1,
    ) -> Floats: ...
    def predict_members(self, table: Table, n_threads: int = 1) -> Floats: ...

def fit_linear_leaves(
    tree: Forest,
    table: Table,
    gradient: npt.NDArray[np.float32],
    hessian: npt.NDArray[np.float32] | None,
    leaf: UInts32,
    rows: UInts32 | None,
    l2: float,
    slope_l2: float,
    max_value: float,
    scale: float,
    raw: Floats,
    n_threads: int = 1,
) -> LinearForest: ...
