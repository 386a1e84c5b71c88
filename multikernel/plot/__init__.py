"""Pictures of fitted models, drawn on matplotlib Axes that are given or made, and returned."""
