"""What are questions worth? Error by the number of labels, beside random rows.

A committee asks for the labels of the rows that its members dispute; its twin is taught as many
random rows. Eight runs with other divisions of the patients tell how much of the difference is
chance.

Run ``python examples/plot_query_curve.py``; it writes ``query_curve.png``.
"""

from committee import QueryByBagging, QueryByBoosting, QueryCurveDisplay, load_heart
from committee.active import simulate_queries


def main() -> None:
    """Simulate two learners and draw their curves."""
    X, y = load_heart(as_frame=True)
    curves = {
        "QueryByBagging": QueryByBagging(),
        "QueryByBoosting": QueryByBoosting(),
    }
    for name, model in curves.items():
        curves[name] = simulate_queries(model, X, y, n_rounds=25, k=2, n_repeats=8, random_state=0)
        print(f"{name} beside random rows: {curves[name].gain('queries')}")
    display = QueryCurveDisplay(curves).plot()
    display.figure_.savefig("query_curve.png", dpi=150)


if __name__ == "__main__":
    main()
