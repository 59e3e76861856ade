"""Resource models, reasons and errors: what every other room speaks."""
