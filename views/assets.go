package views

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"path"
	"strings"
)

//go:embed static
var files embed.FS

// Asset is a file of the console that browsers may keep for ever: another content has another path.
type Asset struct {
	Path string
	Type string
	Body []byte
}

var assets = load()

// asset is the path of a file in static/.
func asset(name string) string { return assets[name].Path }

// Assets are all of them.
func Assets() []Asset {
	var list []Asset
	for _, a := range assets {
		list = append(list, a)
	}
	return list
}

func load() map[string]Asset {
	all := map[string]Asset{}
	entries, err := fs.ReadDir(files, "static")
	if err != nil {
		panic(err) // embedded by this file
	}
	for _, entry := range entries {
		body, err := files.ReadFile("static/" + entry.Name())
		if err != nil {
			panic(err)
		}
		all[entry.Name()] = Asset{Path: "/static/" + stamped(entry.Name(), body), Type: mime.TypeByExtension(path.Ext(entry.Name())), Body: body}
	}
	return all
}

// stamped puts the digest of a file into its name.
func stamped(name string, body []byte) string {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
}
