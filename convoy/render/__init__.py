"""From a folder of files to the objects of a Release: content, normaliser and renderRef."""
