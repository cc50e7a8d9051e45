"""What belongs to no medium: failures of the checker, and what lies about in a folder."""
