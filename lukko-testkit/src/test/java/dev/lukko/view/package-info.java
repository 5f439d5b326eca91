/** Tests of what stands on a client: views, leadership, advice, recordings. */
package dev.lukko.view;
