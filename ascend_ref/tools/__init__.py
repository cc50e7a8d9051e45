"""What reads deliverables for people: pictures, a server, the pages of the spec."""
