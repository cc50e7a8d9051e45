"""From files of older generations to a recording, and to what the present one makes of it."""
