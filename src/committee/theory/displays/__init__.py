"""Pictures of what committees tell, with scikit-learn's display interface; they need matplotlib."""

from committee.theory.displays.bias_variance import BiasVarianceDisplay
from committee.theory.displays.importance import ImportanceDisplay
from committee.theory.displays.out_of_bag import OutOfBagCurveDisplay

__all__ = ["BiasVarianceDisplay", "ImportanceDisplay", "OutOfBagCurveDisplay"]
