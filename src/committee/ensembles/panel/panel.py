"""The panel: what ensembles of named, different members share.

An ensemble derives from :class:`Panel`, and its ``fit`` reads like this::

    task = self._read(X, y, sample_weight, fit_params)
    n_jobs = len(task.seats)
    with Watch(self, n_jobs, X=X, y=y) as watch:
        fitted = self._fit_members(task, Progress(n_jobs, watch))
        self._keep(task, fitted, {"my_attribute_": ...})

Nothing of the ensemble is changed before ``_keep``, so a fit that fails leaves it as it was.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import MetaEstimatorMixin, RegressorMixin, is_classifier
from sklearn.utils import Bunch, get_tags, metadata_routing
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _num_samples, check_is_fitted

from committee.core.fitted import replace_fitted, schema_attributes
from committee.core.members import ClassifierMember, Floats, Member, Members, RegressorMember
from committee.core.params import (
    SEED_CONSTRAINTS,
    THREAD_CONSTRAINTS,
    NamedParameters,
    check_params,
    resolve_seed,
)
from committee.core.threads import Threaded
from committee.core.watching import CallbackSupport
from committee.data import InputError, Schema, read_classes, read_numbers, read_weights
from committee.data.errors import describe
from committee.ensembles.any_rows import AnyRows, rows_to_ask
from committee.ensembles.opinions import FEW_ROWS
from committee.ensembles.panel.remarks import heard, tell
from committee.ensembles.panel.routing import fit_params_of, routed_to, router_of
from committee.ensembles.panel.seats import check_prefit, given_members, read_seats
from committee.ensembles.panel.task import Job, PanelTask, Progress
from committee.ensembles.routing import Routed


class Panel(CallbackSupport, Threaded, NamedParameters, MetaEstimatorMixin, _BaseComposition):
    """An ensemble of named members; scikit-learn's ``estimators``, ``get_params``, ``set_params``.

    Subclasses set ``estimators``, ``n_jobs``, ``random_state`` and ``verbose`` in ``__init__``.
    """

    # sample_weight goes to the members, as they request it.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sample_weight": metadata_routing.UNUSED}

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": "no_validation",  # read_seats says more
        "n_jobs": THREAD_CONSTRAINTS,
        "random_state": SEED_CONSTRAINTS,
        "verbose": ["verbose"],
    }

    _listed_in: str = "estimators"  # the argument in which the user has listed the members
    estimators: Any
    n_jobs: int | None
    random_state: Any
    verbose: int
    estimators_: list[Any]
    named_estimators_: Bunch
    seats_: tuple[str, ...]
    schema_: Schema
    classes_: npt.NDArray[Any]
    n_classes_: int

    @abstractmethod
    def __init__(self) -> None: ...

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        members = [get_tags(estimator) for estimator in self._seeing()]
        tags.input_tags.sparse = all(member.input_tags.sparse for member in members)
        tags.input_tags.allow_nan = all(member.input_tags.allow_nan for member in members)
        if isinstance(self, RegressorMixin):
            learners = [get_tags(estimator) for estimator in self._learning()]
            tags.target_tags.multi_output = all(m.target_tags.multi_output for m in learners)
        return tags

    def _seeing(self) -> list[Any]:
        """List the estimators that are given the features."""
        return given_members(self.estimators)

    def _learning(self) -> list[Any]:
        """List the estimators that are given the targets."""
        return self._seeing()

    @property
    def _called(self) -> str:
        """What messages call the ensemble; one within another is called by the user's word."""
        return type(self).__name__

    @property
    def named_estimators(self) -> Bunch:
        """The members as they were given, by name."""
        return Bunch(**dict(self.estimators))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of the ensemble, and the members and their parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether members and their parameters, ``name__parameter``, are among them.

        Returns
        -------
        dict
            By name.
        """
        return dict(self._get_params("estimators", deep=deep))

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the ensemble, members, or parameters of members.

        Parameters
        ----------
        **params : dict
            A member's name takes another estimator, or "drop"; ``name__parameter`` a parameter of
            the member.

        Returns
        -------
        estimator
            The ensemble itself.
        """
        self._set_params("estimators", **params)
        return self

    def _sk_visual_block_(self) -> Any:
        """Draw the members side by side in notebooks, as scikit-learn does."""
        from sklearn.utils._repr_html.estimator import _VisualBlock  # for notebooks alone

        names, estimators = zip(*self.estimators, strict=True)
        return _VisualBlock("parallel", estimators, names=names)

    def get_metadata_routing(self) -> MetadataRouter:
        """Describe which metadata go to which member.

        Returns
        -------
        MetadataRouter
            scikit-learn's description.
        """
        return router_of(self, self._asked_methods())

    def _asked_methods(self) -> Mapping[str, str]:
        """Name, for each method of the ensemble that takes metadata, that of the members."""
        return {}

    def _threads_for(self, rows: Any) -> int:
        """Ask members about few rows one after the other, which is faster."""
        return 1 if _num_samples(rows) <= FEW_ROWS else self._threads()

    def _read(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        fit_params: Mapping[str, Any],
        *,
        prefit: bool = False,
    ) -> PanelTask:
        """Check parameters and members, and read rows, targets and metadata.

        Parameters
        ----------
        X, y, sample_weight
            As given to ``fit``.
        fit_params : mapping
            What else was given to ``fit``, for the members.
        prefit : bool
            Whether the members are taken as they are, so that they are given nothing.

        Returns
        -------
        PanelTask
            Rows, targets and members, ready to be fitted.
        """
        check_params(self)
        name, seats = self._called, read_seats(self)
        rows = AnyRows.read(X)
        classes = codes = None
        if is_classifier(self):
            labels = read_classes(y, rows.n_rows, estimator_name=name)
            classes, codes = labels.classes[0], labels.codes[:, 0]
            target = classes[codes]
        else:
            several = all(get_tags(seat.estimator).target_tags.multi_output for seat in seats)
            numbers = read_numbers(y, rows.n_rows, multi_output=several, estimator_name=name)
            target = numbers[:, 0] if numbers.shape[1] == 1 else np.ascontiguousarray(numbers)
        weight = read_weights(sample_weight, rows.n_rows)
        return PanelTask(
            seats=seats,
            X=rows.X,
            y=target,
            schema=rows.schema,
            classes=classes,
            codes=codes,
            weight=weight,
            params=fit_params_of(self, () if prefit else seats, weight, fit_params),
            seed=resolve_seed(self.random_state, name),
            n_jobs=self._threads(),
            owner=name,
            verbose=int(self.verbose),
        )

    def _fit_members(
        self, task: PanelTask, progress: Progress | None = None, *, prefit: bool = False
    ) -> list[Any]:
        """Fit all members on all rows, or check that they are fitted already.

        Parameters
        ----------
        task : PanelTask
            What :meth:`_read` returned.
        progress : Progress, optional
            Told of each member that is fitted.
        prefit : bool
            Whether the members are taken as they are.

        Returns
        -------
        list of estimators
            In the order of ``task.seats``.
        """
        if prefit:
            check_prefit(task.seats, task.schema.n_features, task.classes)
            return [seat.estimator for seat in task.seats]
        jobs = [Job(seat) for seat in task.seats]
        return [done.estimator for done in task.run(jobs, progress)]

    def _keep(self, task: PanelTask, fitted: Sequence[Any], attributes: Mapping[str, Any]) -> None:
        """Replace what an earlier fit left by the members and attributes of this one."""
        by_index = dict(zip([seat.index for seat in task.seats], fitted, strict=True))
        named = {name: by_index.get(k, "drop") for k, name in enumerate(self.named_estimators)}
        known: dict[str, Any] = {
            "estimators_": list(fitted),
            "named_estimators_": Bunch(**named),
            "seats_": tuple(seat.name for seat in task.seats),
            **schema_attributes(task.schema),
        }
        if task.classes is not None:
            known |= {"classes_": task.classes, "n_classes_": len(task.classes)}
        replace_fitted(self, {**known, **attributes})

    def _members(
        self, *, votes: bool = False, metadata: Mapping[str, Mapping[str, Any]] | None = None
    ) -> Members:
        """Seat the fitted members: each gives shares of ``classes_``, or numbers.

        Parameters
        ----------
        votes : bool
            Whether classifiers give a whole vote to their label even where they have
            probabilities.
        metadata : mapping, optional
            By name of member, by method, what the methods take besides the rows; see
            :meth:`_routed`.
        """
        check_is_fitted(self)
        self._check_classes()
        return Members(self._seated(votes, metadata or {}))

    def _check_classes(self) -> None:
        """Refuse a model whose classes are no longer those it was fitted on."""
        if is_classifier(self) and np.shape(self.classes_) != (self.n_classes_,):
            found = f"classes_ is {self.classes_!r}, fitted were {self.n_classes_} classes"
            raise InputError(describe("M-CLASSES", "classes_", found, fix="fit the model again"))

    def _seated(self, votes: bool, metadata: Mapping[str, Any]) -> Iterator[Member]:
        for name, estimator in zip(self.seats_, self.estimators_, strict=True):
            extra = metadata.get(name)
            asked = Routed(estimator, extra) if extra else estimator
            if is_classifier(self):
                yield ClassifierMember(asked, self.classes_, votes)
            else:
                yield RegressorMember(asked)

    def _routed(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Sort the metadata given to a method by member and by its method."""
        return routed_to(self, method, params, getattr(self, "seats_", ()))

    def _rows(self, X: Any) -> Any:
        """Hold rows to predict against those of the fit; their container is kept."""
        check_is_fitted(self)
        if not isinstance(self.schema_, Schema):
            found = f"schema_ is {self.schema_!r}, no Schema"
            raise InputError(describe("M-TREE", "schema_", found, fix="fit the model again"))
        return rows_to_ask(X, self.schema_, self._called)

    def _outputs(self, X: Any, *, votes: bool = False, metadata: Any = None) -> Floats:
        """Ask all members about rows: [member, row, class or output]."""
        rows = self._rows(X)
        members = self._members(votes=votes, metadata=metadata)
        with heard() as remarks:
            outputs = members.outputs(rows, self._threads_for(rows))
        tell(remarks)
        return outputs
