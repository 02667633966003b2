"""Two small real data sets, shipped as plain files: the project's own examples run on them.

``weather`` is the table of Quinlan (1986, "Induction of decision trees") with the numeric columns
of his 1993 book. ``heart`` is UCI "Heart Disease", Cleveland (Janosi, Steinbrunn, Pfisterer,
Detrano 1988; CC BY 4.0), in the two-class form that WEKA distributes: 303 patients, 13 features.
"""

from committee.datasets.load import Dataset, load_heart, load_weather

__all__ = ["Dataset", "load_heart", "load_weather"]
