"""Fill the templates of C programs, and write text into them that nobody has checked.

In: a template of ``templates/skeleton`` with its values. Out: C. Nothing else writes
text of a signature into C.
Paper: Sodhi and Subhlok 2005, section III-C, step 4.
"""
