"""Runs of Garblet over the shards of a table on Ray clusters. Each party has its own cluster, and `map` runs a program once for each shard."""

from .jobs import Calling, Listening, ShardsError, map

__all__ = ["Calling", "Listening", "ShardsError", "map"]
