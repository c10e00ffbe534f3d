/** What a rank prints: which piece it is, and in which history of the rank. */
export interface Piece {
  readonly rank: number;
  /** Of the rank's pieces, from 0. */
  readonly piece: number;
  readonly history: number;
}

export const pieceText = ({ rank, piece, history }: Piece, endsLine: boolean): string =>
  `[rank ${rank} piece ${piece} history ${history.toString(16)}]${endsLine ? "\n" : ""}`;
