package dev.lukko.spring;

/** The application's settings give no lock client. Shown by {@link UnusableSettingsAnalyzer}. */
final class UnusableSettingsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String action;

  /**
   * An error.
   *
   * @param message what is wrong
   * @param action what to do about it
   */
  UnusableSettingsException(String message, String action, Throwable cause) {
    super(message, cause);
    this.action = action;
  }

  String action() {
    return action;
  }
}
