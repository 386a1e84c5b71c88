"""Files in and out: saved models (``models``), tables and views (``tables``)."""
