package record

// SourcesIn reads the sources of a registry without a database, strictly like Load; name is what its
// problems are said of.
func SourcesIn(name string, content []byte) ([]Source, error) {
	problems := &Problems{File: name}
	d := parse(content, problems)
	if err := problems.err(); err != nil {
		return nil, err
	}
	sources := make([]Source, len(d.sources))
	for i, one := range d.sources {
		sources[i] = one.Source
	}
	return sources, nil
}
