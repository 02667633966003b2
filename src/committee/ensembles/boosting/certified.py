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
from committee.data import InputError, read_weights
from committee.data.errors import describe
from committee.ensembles.boosting.booster import ASKED, ENOUGH, IMPATIENT, Booster
from committee.ensembles.boosting.certificate import Certificate, CertificateSet, Claim
from committee.ensembles.boosting.record import Record
from committee.ensembles.boosting.task import AllRecalled, answers
from committee.ensembles.boosting.training import TrainingSet, read_training, rows_to_hold
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
            "train_distribution_": None if alike else self._shares_of(train),
        }

    def _shares_of(self, train: TrainingSet) -> Floats:
        """Give what each margin counts."""
        return train.distribution

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
        return self._compare(certificate, self._fitted_to(X, y, sample_weight))

    def _fitted_to(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        """Read what fit was given; without the rows that fit held out, if that is what fits."""
        train = self._reread(X, y, sample_weight)
        if self._is_fitted_to(train) or not getattr(self, "early_stopping", False):
            return train
        given = read_weights(sample_weight, train.n_given)
        held = rows_to_hold(
            y,
            given,
            train.n_given,
            fraction=self.validation_fraction,
            seed=self.origin_.seed,
            classifies=self._splits_by_class(y),
        )
        weight = np.ones(train.n_given) if given is None else given.copy()
        weight[held] = 0.0
        rest = self._reread(X, y, weight)
        return rest if self._is_fitted_to(rest) else train

    def _is_fitted_to(self, train: TrainingSet) -> bool:
        here = train.origin(self.origin_.seed, train.n_threads)
        same = np.array_equal(here.keys, self.origin_.keys)
        return bool(same) and here.weights == self.origin_.weights

    def _known(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        """Read what fit was given, and refuse anything else."""
        train = self._fitted_to(X, y, sample_weight)
        if not self._is_fitted_to(train):
            found = "these rows, labels or weights are not those of the fit"
            raise InputError(describe("M-ROWS", "X, y", found, fix="give what fit was given"))
        return train

    def _compare(self, certificate: Certificate, train: TrainingSet) -> Verification:
        """Compare what was recorded with what comes out."""
        here = train.origin(self.origin_.seed, train.n_threads)
        n_rows, n_members = train.rows.n_rows, len(self.committee_)
        findings = list(compare_rows("content", self.origin_.keys, here.keys, exact=True))
        if here.weights != self.origin_.weights:
            findings.append("sample_weight differs from what was recorded")
        if len(self.questions_) != n_members:
            findings.append(f"members: {len(self.questions_)} recorded, {n_members} there")
        elif n_rows == len(self.origin_.keys):
            found = self._compare_prior if self._is_prior else self._compare_run
            findings += found(certificate, train)
            findings += compare_rows("share", certificate.distribution, self._shares_of(train))
        findings += [str(claim) for claim in certificate.claims if not claim.holds]
        return Verification(n_members, n_rows, tuple(findings))

    @property
    def _is_prior(self) -> bool:
        """Whether no hypothesis was found, so that there is no round."""
        return bool(self.questions_.tolist() == [-1])

    def _compare_run(self, certificate: Certificate, train: TrainingSet) -> Iterator[str]:
        again = self._recollect(train)
        size = len(self.committee_) // self._members_per_round(train)
        yield from compare_rounds(certificate.rounds, again.record.columns(size))
        yield from compare_weights(certificate.weights, again.weights)
        margins = self._margins(train, self.committee_, again.weights)
        yield from compare_rows("margin", certificate.margins, margins)
        # From outside the algorithm may have been stopped just before it would have ended itself.
        reason, whole = again.record.reason, len(again.record.facts) == size
        if whole and reason and certificate.stop_reason not in (reason, ENOUGH, IMPATIENT, ASKED):
            yield f"stop reason: recorded {certificate.stop_reason!r}, recomputed {reason!r}"

    def _compare_prior(self, certificate: Certificate, train: TrainingSet) -> Iterator[str]:
        here = train.origin(self.origin_.seed, train.n_threads)
        asked, weights = train.rows.asked, np.ones(1)
        prior = self._prior(self._task(train, here)).outputs(asked)
        yield from compare_weights(certificate.weights, weights)
        said = self.committee_.decision(asked)
        yield from compare_rows("prediction", np.ravel(prior), np.ravel(said))
        margins = self._margins(train, self.committee_, weights)
        yield from compare_rows("margin", certificate.margins, margins)

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
        yield from self._distributions(self._known(X, y, sample_weight))

    def _distributions(self, train: TrainingSet) -> Iterator[Floats]:
        """Give the weights of the rows at each question that a member answers, and at the next."""
        if self._is_prior:
            found = f"the model has no round: {self.stop_reason_}"
            raise InputError(describe("M-PRIOR", "model", found, fix="another weak learner, or y"))
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
