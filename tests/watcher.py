"""A callback that notes what it is told of a fit."""


class Watcher:
    """Collects the facts of each member, and may ask to stop."""

    def __init__(self, stop=False):
        self.stop, self.facts = stop, []

    def setup(self, estimator, context):
        pass

    teardown = setup

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if hasattr(context, "facts"):
            self.facts.append(context.facts)
            return self.stop
        return False
