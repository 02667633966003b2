"""Which losses the engine knows by itself: the same formulas, without a round trip."""

from __future__ import annotations

from committee._engine import Loss as NativeLoss
from committee._engine import LossKind
from committee.losses.absolute import Absolute
from committee.losses.columns import Columns
from committee.losses.exponential import Exponential
from committee.losses.gamma import Gamma
from committee.losses.huber import Huber
from committee.losses.logistic import Logistic
from committee.losses.loss import Loss
from committee.losses.multinomial import Multinomial
from committee.losses.poisson import Poisson
from committee.losses.quantile import Quantile, Quantiles
from committee.losses.squared import Squared
from committee.losses.tweedie import Tweedie

KINDS: dict[type[Loss], LossKind] = {
    Squared: LossKind.squared,
    Absolute: LossKind.absolute,
    Huber: LossKind.huber,
    Quantile: LossKind.quantile,
    Quantiles: LossKind.quantile,
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
    return NativeLoss(kind, parameter, list(getattr(loss, "levels", ())))


def native_columns(loss: Loss) -> list[NativeLoss]:
    """Find the engine's forms of the losses of columns; empty where it has not all of them.

    Columns are of one kind, so that all of them have hessians or none has.
    """
    parts = loss.parts if type(loss) is Columns else ()
    known = [native for native in map(native_loss, parts) if native is not None]
    alike = len({native.kind for native in known}) == 1
    return known if alike and len(known) == len(parts) else []
