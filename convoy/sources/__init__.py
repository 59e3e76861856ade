"""From a Release's source to a folder of files at a revision."""
