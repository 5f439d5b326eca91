package dev.lukko.spring.locked;

import org.springframework.asm.Opcodes;

/** By how many slots an instruction without operands changes the stack. */
final class StackEffects {
  private StackEffects() {}

  static int of(int opcode) {
    if (opcode >= Opcodes.IADD && opcode <= Opcodes.DREM) {
      return isWide(opcode - Opcodes.IADD) ? -2 : -1;
    }
    if (opcode >= Opcodes.ISHL && opcode <= Opcodes.LUSHR) {
      return -1;
    }
    if (opcode >= Opcodes.IAND && opcode <= Opcodes.LXOR) {
      return isWide(opcode - Opcodes.IAND) ? -2 : -1;
    }
    if (opcode >= Opcodes.IALOAD && opcode <= Opcodes.SALOAD) {
      return opcode == Opcodes.LALOAD || opcode == Opcodes.DALOAD ? 0 : -1;
    }
    if (opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE) {
      return opcode == Opcodes.LASTORE || opcode == Opcodes.DASTORE ? -4 : -3;
    }
    return switch (opcode) {
      case Opcodes.LCONST_0, Opcodes.LCONST_1, Opcodes.DCONST_0, Opcodes.DCONST_1 -> 2;
      case Opcodes.ACONST_NULL,
          Opcodes.ICONST_M1,
          Opcodes.ICONST_0,
          Opcodes.ICONST_1,
          Opcodes.ICONST_2,
          Opcodes.ICONST_3,
          Opcodes.ICONST_4,
          Opcodes.ICONST_5,
          Opcodes.FCONST_0,
          Opcodes.FCONST_1,
          Opcodes.FCONST_2,
          Opcodes.I2L,
          Opcodes.I2D,
          Opcodes.F2L,
          Opcodes.F2D ->
          1;
      case Opcodes.POP,
          Opcodes.L2I,
          Opcodes.L2F,
          Opcodes.D2I,
          Opcodes.D2F,
          Opcodes.FCMPL,
          Opcodes.FCMPG,
          Opcodes.MONITORENTER,
          Opcodes.MONITOREXIT ->
          -1;
      case Opcodes.POP2 -> -2;
      case Opcodes.LCMP, Opcodes.DCMPL, Opcodes.DCMPG -> -3;
      default -> 0;
    };
  }

  /** The types come in turns: int, long, float, double. */
  private static boolean isWide(int offset) {
    return offset % 2 == 1;
  }
}
