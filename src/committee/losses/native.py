"""Which losses the engine knows by itself: the same formulas, without a round trip."""

from __future__ import annotations

from committee._engine import Loss as NativeLoss
from committee._engine import LossKind
from committee.losses.absolute import Absolute
from committee.losses.exponential import Exponential
from committee.losses.gamma import Gamma
from committee.losses.huber import Huber
from committee.losses.logistic import Logistic
from committee.losses.loss import Loss
from committee.losses.multinomial import Multinomial
from committee.losses.poisson import Poisson
from committee.losses.quantile import Quantile
from committee.losses.squared import Squared
from committee.losses.tweedie import Tweedie

KINDS: dict[type[Loss], LossKind] = {
    Squared: LossKind.squared,
    Absolute: LossKind.absolute,
    Huber: LossKind.huber,
    Quantile: LossKind.quantile,
    Poisson: LossKind.poisson,
    Gamma: LossKind.gamma,
    Tweedie: LossKind.tweedie,
    Logistic: LossKind.logistic,
    Exponential: LossKind.exponential,
    Multinomial: LossKind.multinomial,
}


def native_loss(loss: Loss) -> NativeLoss | None:
    """Find the engine's form of a stock loss; a subclass of one may mean something else."""
    kind = KINDS.get(type(loss))
    if kind is None:
        return None
    parameter = 0.0
    for name in ("delta", "level", "power"):
        parameter = float(getattr(loss, name, parameter))
    return NativeLoss(kind, parameter)
