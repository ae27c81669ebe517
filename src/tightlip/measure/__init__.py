"""How much a release leaks: one quantity per file, its formula on top."""
