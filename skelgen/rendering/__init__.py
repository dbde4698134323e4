"""Fill templates, and write text into C programs that nobody has checked.

In: a template with its values. Out: a program, a page, a picture or a document. No
other package reads templates, and nothing else writes text of a signature into C.
Paper: Sodhi and Subhlok 2005, section III-C, step 4.
"""
