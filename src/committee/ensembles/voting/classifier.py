"""Different classifiers vote: labels are counted, or probabilities combined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from committee.core.members import Floats
from committee.core.params import choice
from committee.core.voting import SettledVote, vote_until_decided
from committee.data import InputError
from committee.data.errors import describe, listing
from committee.ensembles.panel import Seat
from committee.ensembles.panel.remarks import heard, tell
from committee.ensembles.voting.rules import Rule, class_rule
from committee.ensembles.voting.voting import Voting
from committee.ensembles.voting.voting_docs import voting_documented

CLASS_RULES = ("hard", "soft", "product", "max", "median", "trimmed_mean")


def _has_shares(model: Any) -> bool:
    """Tell whether there are probabilities; as in scikit-learn not where labels are counted."""
    if model.voting == "hard":
        raise AttributeError("predict_proba is not available when voting='hard'")
    return True


def _counts_votes(model: Any) -> bool:
    if model.voting != "hard":
        raise AttributeError(f"settled_vote is not available when voting={model.voting!r}")
    return True


@voting_documented
class VotingClassifier(ClassifierMixin, Voting):
    """Different classifiers vote.

    Of equal classes the first in the order of ``classes_`` wins, whatever the rule. Weights are
    added as floating-point numbers: where ties matter, give whole ones.

    Parameters
    ----------
    {estimators}
    voting : {"hard", "soft", "product", "max", "median", "trimmed_mean"}, default="hard"
        A vote each for the predicted label, or how probabilities are combined: their mean, their
        product (as a geometric mean; one zero is a veto), the largest, the median or the trimmed
        mean of each class, scaled to sum to 1. Where nothing is left of a row, the mean takes its
        place.
    {weights}
    {panel_parameters}
    flatten_transform : bool, default=True
        Whether ``transform`` gives one column per member and class, or [member, row, class].
    {trim}
    early_exit : bool, default=False
        Whether ``predict`` asks no member about a row whose class the remaining ones cannot
        change. The labels are the same. Only with "hard", since probabilities need all members;
        with metadata for the members, which are there for all rows, all are asked, too.
    {prefit}

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    {voting_attributes}

    Examples
    --------
    >>> from committee import DecisionTreeClassifier, VotingClassifier
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [
    ...     ("tree", DecisionTreeClassifier(max_depth=3)),
    ...     ("lda", LinearDiscriminantAnalysis()),
    ...     ("bayes", GaussianNB()),
    ... ]
    >>> model = VotingClassifier(members, voting="soft").fit(X, y)
    >>> model.predict(X[::50])
    array([0, 1, 2])
    >>> vote = VotingClassifier(members, early_exit=True).fit(X, y).settled_vote(X)
    >>> vote.n_members, bool(vote.saved > 0)
    (3, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Voting._parameter_constraints,
        "voting": [choice(*CLASS_RULES)],
        "flatten_transform": ["boolean"],
        "early_exit": ["boolean"],
    }

    def __init__(
        self,
        estimators: Any,
        *,
        voting: str = "hard",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: int = 0,
        trim: float = 0.1,
        early_exit: bool = False,
        prefit: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose
        self.trim = trim
        self.early_exit = early_exit
        self.prefit = prefit
        self.random_state = random_state

    def _rule(self) -> Rule:
        return class_rule(self.voting, self.trim)

    def _asked_methods(self) -> Mapping[str, str]:
        if self.voting == "hard":
            return {"predict": "predict"}
        return {"predict": "predict_proba", "predict_proba": "predict_proba"}

    def _check_members(self, seats: tuple[Seat, ...]) -> None:
        if self.early_exit and self.voting != "hard":
            found = f"early_exit=True with voting={self.voting!r}, which asks all members"
            allowed, fix = "it with voting='hard'", "voting='hard', or early_exit=False"
            raise InputError(describe("P-VALUE", "early_exit", found, allowed=allowed, fix=fix))
        lacking = [str(seat) for seat in seats if not hasattr(seat.estimator, "predict_proba")]
        if self.voting != "hard" and lacking:
            found = f"voting={self.voting!r} needs predict_proba of all members, and "
            found += f"{len(lacking)} of {len(seats)} lack it: {listing(lacking)}"
            fix = "voting='hard', or CalibratedClassifierCV around these members"
            raise InputError(describe("P-PANEL", "estimators", found, fix=fix))

    def predict(self, X: Any, **params: Any) -> npt.NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels; of equal classes the first in the order of ``classes_``.
        """
        metadata = self._routed("predict", params)
        if self.voting == "hard" and self.early_exit and not metadata:
            codes = self.settled_vote(X).codes
        else:
            codes = self._combined(X, metadata).argmax(axis=1)
        return np.asarray(self.classes_.take(codes))

    @available_if(_counts_votes)  # type: ignore[untyped-decorator]
    def settled_vote(self, X: Any) -> SettledVote:
        """Take the vote, and ask no member about a row that the remaining ones cannot change.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        SettledVote
            ``codes`` are positions in ``classes_``, those of ``predict``; ``asked`` says how many
            members were asked about each row.
        """
        rows = self._rows(X)
        with heard() as remarks:
            vote = vote_until_decided(self._members(votes=True), rows, self.committee_.weights)
        tell(remarks)
        return vote

    @available_if(_has_shares)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, **params: Any) -> Floats:
        """Combine the members' class probabilities by the rule.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        **params : dict
            Metadata for the members, with scikit-learn's routing enabled.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        return self._combined(X, self._routed("predict_proba", params))

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """Predict with the first member, with the first two, and so on.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels; members of weight 0 have no stage.
        """
        for shares in self._staged(X):
            yield np.asarray(self.classes_.take(shares.argmax(axis=1)))

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Give what each member says, as features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray
            With voting="hard" the position of each member's label in ``classes_``,
            (n_samples, n_members); else probabilities, (n_samples, n_members * n_classes), or
            (n_members, n_samples, n_classes) without ``flatten_transform``.
        """
        outputs = self._outputs(X, votes=self._votes)
        if self.voting == "hard":
            return np.asarray(outputs.argmax(axis=2).T)
        return np.hstack(list(outputs)) if self.flatten_transform else outputs

    def _columns_per_member(self) -> int | None:
        if self.voting == "hard":
            return None
        if not self.flatten_transform:
            found = "get_feature_names_out is not supported when flatten_transform=False"
            raise InputError(describe("P-VALUE", "flatten_transform", found, allowed="True"))
        return len(self.classes_)
