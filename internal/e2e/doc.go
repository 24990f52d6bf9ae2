// Package e2e is what people do in the console, in headless Chromium: the stories of the product, with
// JavaScript and without, on a real server and a real database. All of it is tests.
package e2e
