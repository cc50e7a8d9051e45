"""Who reads a profile: what each reader will show of it, drop or misread, and why."""
