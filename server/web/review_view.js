/** Draws a review. */
export function showReview(main, messages, review) {
  main.textContent = `${messages.length} ${review.decisions.length}`;
}
