package dev.lukko.mongodb;

/** A document of Lukko's holds what Lukko never writes: another program has altered it. */
final class AlteredDocumentException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  AlteredDocumentException(String id, String field, String rule) {
    super("ALTERED: field " + field + " of the document \"" + id + "\" " + rule);
  }
}
