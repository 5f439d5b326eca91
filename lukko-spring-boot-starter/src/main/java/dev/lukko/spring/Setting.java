package dev.lukko.spring;

/** Hands a property to what checks it, so that the error names the property. */
final class Setting {
  private Setting() {}

  static void apply(String property, Object value, Runnable setter) {
    try {
      setter.run();
    } catch (IllegalArgumentException refused) {
      throw unusable(property, value, String.valueOf(refused.getMessage()), refused);
    }
  }

  static UnusableSettingsException unusable(
      String property, Object value, String rule, Throwable cause) {
    return new UnusableSettingsException(
        property + " is " + value + ": " + rule,
        "Change " + property + " in the application's configuration.",
        cause);
  }
}
