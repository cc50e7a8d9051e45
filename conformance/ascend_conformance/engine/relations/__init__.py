"""Relations between entities of the recording: stated once, judged in every medium.

A medium gives the :class:`~.views.View` of each entity that it shows; a relation is bound to the
most precise views that show its columns, asked as one query, and answered with its population.
"""
