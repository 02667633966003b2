"""Bagging: copies of one estimator, each on its own bag of rows, vote or are averaged.

Bootstrap bags are Breiman's bagging (1996), draws without replacement his pasting (1999), random
features Ho's subspaces (1998), both Louppe and Geurts' patches (2012), exponential weights the
wagging of Bauer and Kohavi (1999); random projections randomise the representation itself.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from committee.core.interval_methods import INTERVAL_CONSTRAINTS
from committee.core.members import ClassifierMember, Floats, RegressorMember
from committee.core.params import choice
from committee.core.watching import with_callbacks
from committee.data import InputError, read_classes, read_numbers
from committee.data.errors import describe
from committee.ensembles.bagging.bagging_docs import bagging_documented
from committee.ensembles.bagging.left_out import LeftOutFacts
from committee.ensembles.bagging.methods import BaggingImportances, BaggingIntervals
from committee.ensembles.base_tags import BaseTags
from committee.ensembles.opinions import ClassOpinion, NumberOpinion, flat
from committee.ensembles.routing import Routed, routed, router_of
from committee.learners.cart import check_counts
from committee.learners.targets import ClassTarget, NumberTarget, Target
from committee.learners.tree import DecisionTreeClassifier, DecisionTreeRegressor


class Bagging(BaseTags, BaggingImportances, LeftOutFacts):
    """What the classifier and the regressor say alike: fit, tags, and routing."""

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the members, each on its bag.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows. Frames are handed to the members as frames.
        y : array-like of shape (n_samples,), for regressors also (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            How often rows are drawn: one of weight k like k rows. Where nothing is drawn
            (``bootstrap=False``) the members get the weights themselves.
        groups : array-like of shape (n_samples,), optional
            Rows of one group are drawn together.
        **fit_params : dict
            For ``fit`` of the members, with scikit-learn's metadata routing enabled.

        Returns
        -------
        estimator
            The fitted model.
        """
        return self._fit(
            X, y, sample_weight, groups, routed(self, "fit", fit_params).get("fit", {})
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Describe which metadata go to which method of the members.

        Returns
        -------
        MetadataRouter
            scikit-learn's description.
        """
        return router_of(self, self._base())

    def _asked(self, X: Any, method: str, params: dict[str, Any]) -> Floats:
        """Ask the committee, with metadata for the members where there are any."""
        metadata = routed(self, method, params)
        if not any(metadata.values()):
            return self._mean(X)
        check_is_fitted(self)
        rows, total = self._rows(X), 0.0
        for estimator, seen in zip(self.estimators_, self.feature_maps_, strict=True):
            member = self._seat(Routed(estimator, metadata))
            total = total + member.outputs(rows if seen is None else seen.transform(rows))
        return np.asarray(total) / len(self)

    def _seat(self, estimator: Any) -> Any:
        raise NotImplementedError


def _scores(model: Any) -> bool:
    """Tell whether the members have a decision function; otherwise the committee has none."""
    base = model._base()
    if not hasattr(base, "decision_function"):
        raise AttributeError(f"{type(base).__name__} has no attribute 'decision_function'")
    return True


@bagging_documented
class BaggingClassifier(ClassOpinion, Bagging):
    """Copies of a classifier, each fitted on its own bag, vote.

    Parameters
    ----------
    {members}
    voting : {"soft", "hard"}, default="soft"
        The mean of the members' probabilities, or a vote each; members without ``predict_proba``
        always vote. Of equal classes the first in the order of ``classes_`` wins.
    {bags}
    stratify : bool, default=False
        Whether rows are drawn class by class, so that each class has its share of every bag, and
        one draw at least where there are as many draws as classes. In Poisson bags, whose rows
        are drawn each by itself, any may be missing.
    {rest}

    Attributes
    ----------
    classes_ : ndarray
        The class labels. Members are fitted on labels as they are, not on codes.
    n_classes_ : int
        How many there are.
    {attributes}
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        With ``oob_score``: the mean outputs of the members that left a row out, NaN where none did.

    Examples
    --------
    >>> from committee import load_heart
    >>> from committee.ensembles.bagging.bagging import BaggingClassifier
    >>> X, y = load_heart(as_frame=True)
    >>> model = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    >>> bool(model.oob_score_ > 0.75)
    True
    >>> print(model.verify_no_leak(X, y))
    No leak: ...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Bagging._parameter_constraints,
        "voting": [choice("soft", "hard")],
        "stratify": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float | str = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        voting: str = "soft",
        resampling: str = "replace",
        stratify: bool = False,
        feature_map: Any = None,
        n_components: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.voting = voting
        self.resampling = resampling
        self.stratify = stratify
        self.feature_map = feature_map
        self.n_components = n_components

    def _base(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _read_target(self, y: Any, n_rows: int, base: Any) -> ClassTarget:
        labels = read_classes(y, n_rows, estimator_name=type(self).__name__)
        own = isinstance(base, DecisionTreeClassifier)
        return ClassTarget(labels, base.class_weight if own else None)

    def _target_attributes(self, target: Target) -> dict[str, Any]:
        assert isinstance(target, ClassTarget)
        classes = target.labels.classes[0]
        return {"classes_": classes, "n_classes_": len(classes), "n_outputs_": 1}

    def _seat(self, estimator: Any) -> ClassifierMember:
        return ClassifierMember(estimator, self.classes_, self.voting == "hard")

    def predict(self, X: Any, **params: Any) -> npt.NDArray[Any]:
        """Predict the class of each row: the one with the largest mean share, or most votes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; of equal shares the first class in the order of ``classes_``.
        """
        return self._labels(self._asked(X, "predict", params))

    def predict_proba(self, X: Any, **params: Any) -> Floats:
        """Predict class probabilities: the mean of the members', or the shares of the votes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._asked(X, "predict_proba", params)

    @available_if(_scores)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, **params: Any) -> Floats:
        """Average the decision functions of the members.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The means.
        """
        metadata = routed(self, "decision_function", params)
        check_is_fitted(self)
        rows, total = self._rows(X), 0.0
        members = zip(self.estimators_, self.feature_maps_, strict=True)
        for index, (estimator, seen) in enumerate(members):
            if len(estimator.classes_) != self.n_classes_:
                lost = sorted(set(self.classes_.tolist()) - set(estimator.classes_.tolist()))
                found = f"member {index} has not seen class {lost[0]!r} and has no score for it"
                fix = "stratify=True and bags large enough for every class; or use predict_proba"
                raise InputError(describe("M-CLASSES", "estimators_", found, fix=fix))
            score = Routed(estimator, metadata).decision_function
            total = total + score(rows if seen is None else seen.transform(rows))
        return np.asarray(total) / len(self)


@bagging_documented
class BaggingRegressor(BaggingIntervals, NumberOpinion, Bagging):
    """Copies of a regressor, each fitted on its own bag, are averaged.

    Parameters
    ----------
    {members}
    {bags}
    {rest}
    intervals : {"jackknife", "quantile"} or None, default=None
        What ``fit`` keeps for ``predict_interval``: residuals of left-out rows (jackknife+ after
        bootstrap), or the targets in the leaves, which needs trees of this library.

    Attributes
    ----------
    {attributes}
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        With ``oob_score``: the mean prediction of the members that left a row out, NaN where none
        did.

    Examples
    --------
    >>> import numpy as np
    >>> from committee.ensembles.bagging.bagging import BaggingRegressor
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> model = BaggingRegressor(n_estimators=50, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.5], [4.7]]).round(1)
    array([ 1., -1.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Bagging._parameter_constraints,
        "intervals": INTERVAL_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float | str = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        resampling: str = "replace",
        feature_map: Any = None,
        n_components: int | None = None,
        intervals: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.resampling = resampling
        self.feature_map = feature_map
        self.n_components = n_components
        self.intervals = intervals

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = self._base()
        if not isinstance(base, type):
            tags.target_tags.multi_output = get_tags(base).target_tags.multi_output
        return tags

    def _base(self) -> Any:
        return DecisionTreeRegressor() if self.estimator is None else self.estimator

    def _read_target(self, y: Any, n_rows: int, base: Any) -> NumberTarget:
        several = get_tags(base).target_tags.multi_output
        targets = read_numbers(y, n_rows, multi_output=several, estimator_name=type(self).__name__)
        poisson = isinstance(base, DecisionTreeRegressor) and base.criterion == "poisson"
        if poisson:
            check_counts(targets)
        return NumberTarget(np.ascontiguousarray(targets), centred=not poisson)

    def _target_attributes(self, target: Target) -> dict[str, Any]:
        return {"n_outputs_": len(target.n_classes)}

    def _seat(self, estimator: Any) -> RegressorMember:
        return RegressorMember(estimator)

    def predict(self, X: Any, **params: Any) -> Floats:
        """Predict the target of each row: the mean of the members' predictions.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.
        """
        return flat(self._asked(X, "predict", params))
