"""An independent peer for Garblet, written from the specification of the wire alone."""
