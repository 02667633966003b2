"""Boosters that can prove what they claim: certificate, verification, the weights of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.core.committee import Committee
from committee.core.margins import normalised_margins
from committee.core.members import Floats
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.boosting.booster import Booster
from committee.ensembles.boosting.certificate import Certificate, CertificateSet, Claim
from committee.ensembles.boosting.record import Record
from committee.ensembles.boosting.task import AllRecalled, answers
from committee.ensembles.boosting.training import TrainingSet, read_training
from committee.ensembles.boosting.verification import (
    Verification,
    compare_rounds,
    compare_rows,
    compare_weights,
)


@dataclass(frozen=True, eq=False)
class Recollection:
    """The run of an algorithm, taken again with known answers.

    Attributes
    ----------
    record : Record
        The numbers of its rounds.
    weights : ndarray
        The weights of the members after the last round.
    distributions : list of ndarray
        The weights of the rows at each question.
    """

    record: Record
    weights: Floats
    distributions: list[Floats]


class Certified(Booster):
    """What a booster says of its own fit."""

    def _certified(self, train: TrainingSet, committee: Committee) -> dict[str, Any]:
        """Name what is kept for the certificate: margins, and weights where they differ."""
        margins = self._margins(train, committee, committee.weights)
        alike = bool((train.given == train.given[0]).all())
        return {
            "train_margins_": margins,
            "train_distribution_": None if alike else train.distribution,
        }

    def _margins(self, train: TrainingSet, committee: Committee, weights: Floats) -> Floats:
        """Give the margins of the training rows, were the members' weights these."""
        decision = committee.decision(train.rows.asked, n_threads=train.n_threads)
        return normalised_margins(decision, train.y, weights)

    def certificate(self) -> Certificate | CertificateSet:
        """Certify the fit: the numbers of all rounds, the margins, and what the theory claims.

        Returns
        -------
        Certificate, or CertificateSet where each class has a committee of its own
            Prints itself; ``verify(X, y)`` recomputes everything from the members.
        """
        check_is_fitted(self)
        return self._own_certificate()

    def _own_certificate(self) -> Certificate:
        """Certify the one committee there is."""
        margins, given = self.train_margins_, self.train_distribution_
        distribution = np.full(len(margins), 1 / len(margins)) if given is None else given
        bare = Certificate(
            type(self).__name__,
            self.rounds_,
            self.committee_.weights,
            margins,
            distribution,
            (),
            self.stop_reason_,
            self,
        )
        claims = tuple(self._claims(bare)) if self.rounds_ else ()
        return Certificate(**{**vars(bare), "claims": claims})

    def _claims(self, certificate: Certificate) -> Iterator[Claim]:
        """State what the theory of the algorithm says, with both sides computed."""
        raise NotImplementedError

    def _reread(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        """Read rows as fit did, in the classes of the model."""
        check_is_fitted(self)
        train = read_training(
            X,
            y,
            sample_weight,
            base=self.estimator_,
            classifies=True,
            n_threads=self._threads(),
            owner=type(self).__name__,
        )
        if not np.array_equal(np.asarray(train.classes), self.classes_):
            found = f"{train.classes} are not the classes of the fit, {self.classes_}"
            raise InputError(describe("M-CLASSES", "y", found, fix="give what fit was given"))
        return train

    def _recollect(self, train: TrainingSet) -> Recollection:
        """Run the algorithm again with the members as its answers."""
        known = answers(self.committee_, self.questions_)
        here = train.origin(self.origin_.seed, train.n_threads)
        task = self._task(train, here, seated=known, recall_only=True)
        record, weights = Record(), np.empty(0)
        try:
            for made in record.follow(self._rounds_of(task), task):
                weights = made.weights
        except AllRecalled:  # the end of what there is to recall
            record.reason = None
        return Recollection(record, weights, task.distributions)

    def _verify(self, certificate: Certificate, X: Any, y: Any, sample_weight: Any) -> Verification:
        return self._compare(certificate, self._reread(X, y, sample_weight))

    def _compare(self, certificate: Certificate, train: TrainingSet) -> Verification:
        """Compare what was recorded with what comes out."""
        here = train.origin(self.origin_.seed, train.n_threads)
        n_rows, n_members = train.rows.n_rows, len(self.committee_)
        findings = list(compare_rows("content", self.origin_.keys, here.keys, exact=True))
        if here.weights != self.origin_.weights:
            findings.append("sample_weight differs from what was recorded")
        if n_rows == len(self.origin_.keys) and self.rounds_:
            again = self._recollect(train)
            size = n_members // self._members_per_round(train)
            findings += compare_rounds(certificate.rounds, again.record.columns(size))
            findings += compare_weights(certificate.weights, again.weights)
            margins = self._margins(train, self.committee_, again.weights)
            findings += compare_rows("margin", certificate.margins, margins)
        findings += [str(claim) for claim in certificate.claims if not claim.holds]
        return Verification(n_members, n_rows, tuple(findings))

    def staged_sample_weight(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Floats]:
        """Give the weights of the training rows in each round, and those after the last.

        Parameters
        ----------
        X, y, sample_weight
            What ``fit`` was given.

        Yields
        ------
        ndarray of shape (n_samples,)
            A distribution: that of the first round, of the second, and so on. The one after the
            last round is missing where the algorithm ended before it.
        """
        yield from self._distributions(self._reread(X, y, sample_weight))

    def _distributions(self, train: TrainingSet) -> Iterator[Floats]:
        """Give the weights of the rows at each question that a member answers, and at the next."""
        questions = [*self.questions_.tolist(), int(self.questions_[-1]) + 1]
        distributions = self._recollect(train).distributions
        for question in questions:
            if 0 <= question < len(distributions):
                yield _spread(distributions[question], train)


def _spread(distribution: Floats, train: TrainingSet) -> Floats:
    """Put the rows that were left out back, with weight 0."""
    if train.kept is None:
        return distribution
    whole = np.zeros((train.n_given, *distribution.shape[1:]))
    whole[train.kept] = distribution
    return whole
