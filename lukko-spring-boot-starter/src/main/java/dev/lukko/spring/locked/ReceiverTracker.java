package dev.lukko.spring.locked;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ConstantDynamic;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Follows {@code this} through the operand stack of a method, and reports the calls whose receiver
 * it is. Calls of another object of the same class, such as an injected proxy, are none of them.
 */
final class ReceiverTracker extends MethodVisitor {
  private final BiConsumer<String, String> ownCall;
  private final Map<Label, OperandStack> atLabels = new HashMap<>();
  private OperandStack stack = new OperandStack();
  private boolean reachable = true;

  /**
   * A tracker.
   *
   * @param ownCall gets the class that a method is called by, and the name with the descriptor
   */
  ReceiverTracker(BiConsumer<String, String> ownCall) {
    super(SpringAsmInfo.ASM_VERSION);
    this.ownCall = ownCall;
  }

  @Override
  public void visitTryCatchBlock(
      Label start, Label end, Label handler, @Nullable String exception) {
    OperandStack thrown = new OperandStack();
    thrown.push(1);
    atLabels.put(handler, thrown);
  }

  @Override
  public void visitLabel(Label label) {
    OperandStack known = atLabels.get(label);
    if (!reachable) {
      stack = known == null ? new OperandStack() : known.copy();
      reachable = true;
    }
  }

  private void jumpsTo(Label label) {
    atLabels.putIfAbsent(label, stack.copy());
  }

  private void change(int slots) {
    if (slots < 0) {
      stack.pop(-slots);
    } else {
      stack.push(slots);
    }
  }

  private void replaceTop() {
    stack.pop(1);
    stack.push(1);
  }

  @Override
  public void visitInsn(int opcode) {
    switch (opcode) {
      case Opcodes.DUP -> stack.duplicate(1, 0);
      case Opcodes.DUP_X1 -> stack.duplicate(1, 1);
      case Opcodes.DUP_X2 -> stack.duplicate(1, 2);
      case Opcodes.DUP2 -> stack.duplicate(2, 0);
      case Opcodes.DUP2_X1 -> stack.duplicate(2, 1);
      case Opcodes.DUP2_X2 -> stack.duplicate(2, 2);
      case Opcodes.SWAP -> stack.swap();
      case Opcodes.ATHROW,
          Opcodes.RETURN,
          Opcodes.IRETURN,
          Opcodes.LRETURN,
          Opcodes.FRETURN,
          Opcodes.DRETURN,
          Opcodes.ARETURN ->
          reachable = false;
      default -> change(StackEffects.of(opcode));
    }
  }

  @Override
  public void visitIntInsn(int opcode, int operand) {
    if (opcode != Opcodes.NEWARRAY) {
      stack.push(1);
    }
  }

  @Override
  public void visitVarInsn(int opcode, int index) {
    switch (opcode) {
      case Opcodes.ALOAD -> {
        if (index == 0) {
          stack.pushThis();
        } else {
          stack.push(1);
        }
      }
      case Opcodes.ILOAD, Opcodes.FLOAD -> stack.push(1);
      case Opcodes.LLOAD, Opcodes.DLOAD -> stack.push(2);
      case Opcodes.LSTORE, Opcodes.DSTORE -> stack.pop(2);
      default -> stack.pop(1);
    }
  }

  @Override
  public void visitTypeInsn(int opcode, String type) {
    if (opcode == Opcodes.NEW) {
      stack.push(1);
    } else if (opcode == Opcodes.INSTANCEOF) {
      replaceTop();
    }
  }

  @Override
  public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
    int size = Type.getType(descriptor).getSize();
    switch (opcode) {
      case Opcodes.GETSTATIC -> stack.push(size);
      case Opcodes.PUTSTATIC -> stack.pop(size);
      case Opcodes.GETFIELD -> {
        stack.pop(1);
        stack.push(size);
      }
      default -> stack.pop(size + 1);
    }
  }

  @Override
  public void visitMethodInsn(
      int opcode, String owner, String name, String descriptor, boolean isInterface) {
    int sizes = Type.getArgumentsAndReturnSizes(descriptor);
    int arguments = (sizes >> 2) - (opcode == Opcodes.INVOKESTATIC ? 1 : 0);
    boolean isVirtual = opcode == Opcodes.INVOKEVIRTUAL || opcode == Opcodes.INVOKEINTERFACE;
    if (isVirtual && stack.isThis(arguments)) {
      ownCall.accept(owner, name + descriptor);
    }
    stack.pop(arguments);
    stack.push(sizes & 3);
  }

  @Override
  public void visitInvokeDynamicInsn(
      String name, String descriptor, Handle bootstrap, Object... constants) {
    int sizes = Type.getArgumentsAndReturnSizes(descriptor);
    int captured = (sizes >> 2) - 1;
    if (captured > 0 && stack.isThis(captured)) {
      for (Object constant : constants) {
        if (constant instanceof Handle method) {
          ownCall.accept(method.getOwner(), method.getName() + method.getDesc());
        }
      }
    }
    stack.pop(captured);
    stack.push(sizes & 3);
  }

  @Override
  public void visitJumpInsn(int opcode, Label label) {
    boolean comparesTwo = opcode >= Opcodes.IF_ICMPEQ && opcode <= Opcodes.IF_ACMPNE;
    if (opcode != Opcodes.GOTO) {
      stack.pop(comparesTwo ? 2 : 1);
    }
    jumpsTo(label);
    reachable = opcode != Opcodes.GOTO;
  }

  @Override
  public void visitLdcInsn(Object value) {
    boolean isWide =
        value instanceof Long
            || value instanceof Double
            || (value instanceof ConstantDynamic computed && computed.getSize() == 2);
    stack.push(isWide ? 2 : 1);
  }

  @Override
  public void visitTableSwitchInsn(int min, int max, Label other, Label... labels) {
    visitSwitch(other, labels);
  }

  @Override
  public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
    visitSwitch(other, labels);
  }

  private void visitSwitch(Label other, Label[] labels) {
    stack.pop(1);
    jumpsTo(other);
    for (Label label : labels) {
      jumpsTo(label);
    }
    reachable = false;
  }

  @Override
  public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
    stack.pop(dimensions);
    stack.push(1);
  }
}
