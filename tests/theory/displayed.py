"""What the displays of boosters are held against, and questions to what was drawn."""

import numpy as np

EPS = np.array([3 / 10, 3 / 14, 3 / 22])  # R1
ALPHA = np.log((1 - EPS) / EPS) / 2
Z = 2 * np.sqrt(EPS * (1 - EPS))


def three_classes(n=90):
    rng = np.random.default_rng(0)
    X = rng.random((n, 2))
    return X, np.array(["a", "b", "c"])[(3 * X[:, 0]).astype(int)]


def written(ax):
    return [text.get_text() for text in ax.texts]


def fits(display):
    """Whether every text lies inside the figure."""
    figure = display.figure_
    figure.canvas.draw()
    box = figure.bbox
    texts = [text for ax in figure.axes for text in [*ax.texts, ax._left_title, ax.xaxis.label]]
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    texts += [text for legend in legends for text in legend.get_texts()]
    extents = [text.get_window_extent() for text in texts if text.get_text()]
    return all(
        e.x0 >= box.x0 - 1 and e.x1 <= box.x1 + 1 and e.y0 >= box.y0 - 1 and e.y1 <= box.y1 + 1
        for e in extents
    )
