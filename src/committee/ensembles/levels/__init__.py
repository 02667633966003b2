"""Members on levels: each level learns from what those below say of rows they have not seen."""

from committee.ensembles.levels.answers import StackTask
from committee.ensembles.levels.climbing import Climbed, Intake
from committee.ensembles.levels.leveled import Leveled
from committee.ensembles.levels.parts import Parts
from committee.ensembles.levels.plan import Plan
from committee.ensembles.levels.record import StackRecord, StackReport

__all__ = [
    "Climbed",
    "Intake",
    "Leveled",
    "Parts",
    "Plan",
    "StackRecord",
    "StackReport",
    "StackTask",
]
