-- On which volume a file was when it was last seen: what is not there while another one is mounted, or
-- none, is away and not gone. Empty: not known.
ALTER TABLE file ADD COLUMN volume TEXT NOT NULL DEFAULT '';
