package dev.lukko.spring.locked;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/** The places in a class where an object calls certain methods of its own. */
final class OwnCalls extends ClassVisitor {
  private final Class<?> type;
  private final Set<String> owners = new HashSet<>();
  private final Set<String> names;
  private final List<String> found = new ArrayList<>();

  /**
   * A search.
   *
   * @param type the class whose code is read
   * @param targetClass the class of the object
   * @param names the methods' names, each with its descriptor
   */
  OwnCalls(Class<?> type, Class<?> targetClass, Set<String> names) {
    super(SpringAsmInfo.ASM_VERSION);
    this.type = type;
    this.names = names;
    for (Class<?> owner = targetClass; owner != null; owner = owner.getSuperclass()) {
      owners.add(Type.getInternalName(owner));
    }
  }

  List<String> found() {
    return found;
  }

  @Override
  public @Nullable MethodVisitor visitMethod(
      int access,
      String name,
      String descriptor,
      @Nullable String signature,
      String @Nullable [] exceptions) {
    boolean isStatic = (access & Opcodes.ACC_STATIC) != 0;
    boolean isBridge = (access & Opcodes.ACC_BRIDGE) != 0;
    return isStatic || isBridge
        ? null
        : new ReceiverTracker(
            (owner, called) -> {
              if (owners.contains(owner) && names.contains(called)) {
                found.add(
                    type.getName()
                        + "."
                        + name
                        + " -> "
                        + called.substring(0, called.indexOf('(')));
              }
            });
  }
}
