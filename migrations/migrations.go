// Package migrations holds the schema: goose files in order, the roles they grant to, and schema.sql, a
// dump of the result for readers that a check keeps true.
package migrations

import "embed"

// FS holds the goose migrations.
//
//go:embed [0-9]*.sql
var FS embed.FS

// Roles creates the logins that the migrations grant rights to; it can be run again.
//
//go:embed roles.sql
var Roles string
