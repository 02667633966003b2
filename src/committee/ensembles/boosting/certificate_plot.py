"""The picture of a certificate: bounds and member errors by round, margins of the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from committee.core.margins import log_margin_bound
from committee.core.members import Floats
from committee.core.plot_style import BLUE, CYCLE, INK, pyplot, tidy, whole_rounds
from committee.data import InputError
from committee.data.errors import describe
from committee.ensembles.boosting.certificate import Certificate

BOUND, ERRORS = "#777777", CYCLE[1]
DASHED, DOTTED = (0, (5, 2)), (0, (1.2, 1.6))
EVERY_ROUND = 60  # up to here a round has a mark of its own
SAID = "training error <= "
BY_ROUND = {"kept", "loss"}  # columns that hold a bound after every round


def training_bounds(certificate: Certificate) -> dict[str, Floats]:
    """Follow, round by round, the bounds on the training error that a certificate claims.

    Parameters
    ----------
    certificate : Certificate
        Its claims name the bounds; its rounds hold their numbers.

    Returns
    -------
    dict of str to ndarray of shape (n_rounds,)
        Empty where nothing is claimed that is known after every round.
    """
    rounds, found = certificate.rounds, {}
    for claim in certificate.claims:
        name = claim.text.removeprefix(SAID)
        if name.endswith("product of Z") and claim.text.startswith(SAID):
            found[name] = _times(certificate) * np.exp(np.cumsum(np.log(rounds["z"])))
        elif claim.text.startswith("product of Z <= exp(-2 sum gamma^2)"):
            found["exp(−2 Σ γ²)"] = np.exp(-np.cumsum(rounds["edge"] ** 2) / 2)
        elif claim.text.startswith(SAID):
            for key in BY_ROUND & set(rounds):
                if rounds[key][-1] == claim.bound:
                    found[name] = rounds[key]
    return found


def _times(certificate: Certificate) -> int:
    """Read how many times the product of Z is claimed: once for each wrong class of M2."""
    for claim in certificate.claims:
        before, _, after = claim.text.removeprefix(SAID).partition(" times ")
        if claim.text.startswith(SAID) and after == "product of Z":
            return int(before)
    return 1


def plot_certificate(certificate: Certificate, ax: Any = None) -> Any:
    """Draw the numbers of the rounds on the left, the margins on the right."""
    if ax is None:
        _, ax = pyplot().subplots(1, 2, figsize=(9.6, 3.7), layout="constrained")
    pair = list(np.atleast_1d(np.asarray(ax, dtype=object)).ravel())
    if len(pair) != 2:
        found = f"{len(pair)} axes for rounds and margins"
        raise InputError(describe("P-VALUE", "ax", found, allowed="a pair"))
    for each in pair:
        tidy(each, "y")
    _draw_rounds(certificate, pair[0])
    _draw_margins(certificate, pair[1])
    return pair[0].get_figure(root=True)


def plot_certificates(parts: Mapping[Any, Certificate], ax: Any = None) -> Any:
    """Draw several certificates, one below the other, each under its label."""
    if ax is None:
        size = (9.6, 3.5 * len(parts))
        _, ax = pyplot().subplots(len(parts), 2, figsize=size, layout="constrained", squeeze=False)
    if len(ax) != len(parts):
        found = f"{len(ax)} pairs of axes for {len(parts)} classes"
        raise InputError(describe("P-VALUE", "ax", found, allowed="a pair for each class"))
    for pair, (label, part) in zip(ax, parts.items(), strict=True):
        figure = plot_certificate(part, pair)
        pair[0].set_title(f"{label!r} against the rest: {_verdict(part)}", **TITLE)
    return figure


TITLE = {"fontsize": 10, "loc": "left", "color": INK}


def _verdict(certificate: Certificate) -> str:
    total = len(certificate.claims)
    held = sum(claim.holds for claim in certificate.claims)
    return f"{held} of {total} claims hold" if total else "no claims"


def _draw_rounds(certificate: Certificate, ax: Any) -> None:
    """Draw what bounds the training error, and the error of each member in its round."""
    rounds = certificate.rounds
    n_rounds = len(next(iter(rounds.values()), ())) or len(certificate.weights)
    place, few = np.arange(1, n_rounds + 1), n_rounds <= EVERY_ROUND
    for (name, bound), dash in zip(
        training_bounds(certificate).items(), (DASHED, DOTTED), strict=False
    ):
        mark = {"marker": "o" if n_rounds == 1 else "", "ms": 4}
        ax.plot(place, bound, color=BOUND, ls=dash, lw=1.3, label=f"bound: {name}", **mark)
    if "error" in rounds:
        name = "weighted error of the member"
        size = 3.5 if few else 1.5
        ax.plot(place, rounds["error"], "o", color=ERRORS, label=name, ms=size)
    error = certificate.training_error
    text = f"training error, in the end: {error:.3g}"
    ax.plot(n_rounds, error, "D", color=BLUE, ms=6, clip_on=False, zorder=4, label=text)
    if few:
        ax.set_xlim(0.5, n_rounds + 0.5)
        whole_rounds(ax)
    else:  # bounds fall in the first rounds
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlim(1, n_rounds)
    ax.set_ylim(0, max(1.0, error) * 1.02)
    ax.set_xlabel("round", fontsize=9)
    ax.set_ylabel("share of training rows, by weight", fontsize=9)
    ax.set_title(f"{certificate.algorithm}: {_verdict(certificate)}", **TITLE)
    ax.legend(frameon=False, fontsize=9)


def _draw_margins(certificate: Certificate, ax: Any) -> None:
    """Draw the cumulative margins, the rows that are wrong, and the bound where one is claimed."""
    order = np.argsort(certificate.margins, kind="stable")
    margins = certificate.margins[order]
    share = np.cumsum(certificate.distribution[order])
    reach = max(1.0, float(np.abs(margins).max()))
    x, steps = np.r_[-reach, margins, reach], np.r_[0.0, share, 1.0]
    ax.axvspan(-reach, 0, color=INK, alpha=0.05, lw=0)
    ax.text(-0.98 * reach, 1.0, "misclassified", va="top", fontsize=9, color=INK)
    least = f"{margins[0]:.3g}".replace("-", "−")
    text = f"training rows\n(least margin {least})"
    ax.step(x, steps, where="post", color=BLUE, lw=1.6, label=text, clip_on=False)
    ax.plot(margins[0], 0, "o", color=BLUE, ms=5, clip_on=False, zorder=4)
    rounds, times = certificate.rounds, _times(certificate)
    claimed = any(claim.text.startswith("share of margins") for claim in certificate.claims)
    if claimed and {"alpha", "z"} <= set(rounds):
        theta = np.linspace(-reach, reach, 201)
        log_bound = log_margin_bound(theta, rounds["alpha"], np.log(rounds["z"])) + np.log(times)
        bound = np.exp(np.minimum(log_bound, 1.0))
        ax.plot(theta, bound, color=BOUND, ls=DASHED, lw=1.3, label="bound")
    ax.set_xlim(-reach, reach)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("margin", fontsize=9)
    ax.set_ylabel("share of rows with at most this margin", fontsize=9)
    ax.set_title("Margins of the training rows, cumulative", **TITLE)
    ax.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(0, 0.72))
