package dev.lukko;

import java.util.List;

/** Public classes whose signatures name types that callers cannot see, and one that does not. */
public final class Signatures {

  private Signatures() {}

  static final class Hidden {}

  static final class HiddenFailure extends Exception {}

  public static final class HiddenResult {
    public Hidden result() {
      return new Hidden();
    }
  }

  public static final class HiddenParameter {
    public void accept(Hidden[] hidden) {}
  }

  public static final class HiddenTypeArgument {
    public List<Hidden> results() {
      return List.of();
    }
  }

  public static final class HiddenException {
    public void fail() throws HiddenFailure {
      throw new HiddenFailure();
    }
  }

  public static class HiddenField {
    protected Hidden hidden = new Hidden();
  }

  public static class Clean {
    private final Hidden hidden;

    Clean(Hidden hidden) {
      this.hidden = hidden;
    }

    Hidden hidden() {
      return hidden;
    }

    public List<String[]> names(int count) {
      return List.of();
    }
  }
}
