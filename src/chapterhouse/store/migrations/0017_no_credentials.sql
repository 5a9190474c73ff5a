-- Documents are no longer searched for keys and passwords; what was masked stays as it is.
UPDATE document SET notices = (
  SELECT json_group_array(json(value)) FROM json_each(document.notices)
  WHERE value ->> '$[0]' <> 'credentials'
) WHERE notices LIKE '%"credentials"%';
DELETE FROM setting_change WHERE name = 'reading.credentials';
