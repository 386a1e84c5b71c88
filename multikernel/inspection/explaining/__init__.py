"""Why does a model predict so: importance of columns, and which columns of views move together."""
