"""Files in: tables with a target column (CSV, Parquet, npz), and views written down in TOML."""
