"""What a model is compared with: simpler models, models of columns and late fusion of views."""
