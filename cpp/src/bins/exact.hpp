// All distinct values of a column, as long as there are no more than a given number: the full pass
// behind a sample that saw only few values.
#pragma once

#include "bins/search.hpp"

namespace committee {

class ExactValues {
 public:
  /// Starts from ascending distinct values, at most `most`.
  ExactValues(std::vector<double> known, std::size_t most);

  /// Looks at n more values (NaN is none); does nothing once there were too many.
  void add(const double* x, std::size_t n);

  /// The ascending distinct values; empty when there were more than `most`.
  std::vector<double> take();

 private:
  void collect_unknown(const double* x, std::size_t n);
  void merge();

  std::vector<double> known_, unknown_;
  std::size_t most_;
  bool too_many_ = false;
  SearchTable<double> table_;
};

}  // namespace committee
