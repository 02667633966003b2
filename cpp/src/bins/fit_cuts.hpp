// What every feature's fit shares: the parameters, the sampled rows and their masses.
#pragma once

#include "bins/cuts.hpp"
#include "bins/exact.hpp"
#include "bins/sample.hpp"

namespace committee {

/// One thread's memory for fitting column after column.
struct FitWorkspace {
  std::vector<double> block;  // the sampled values of a group of dense features
  std::vector<double> value;  // of one feature: those that count
  std::vector<std::uint64_t> mass;
  ColumnCuts cuts;
};

class CutFit {
 public:
  CutFit(const Input& input, std::span<const double> weight, const BinningParams& params,
         const Context& context);

  /// Bins of all features.
  std::vector<FeatureBins> run();

 private:
  // A feature whose sample has few distinct values while rows lie outside of it: settled by a full
  // pass.
  struct Open {
    std::size_t feature;
    Distinct sampled;
  };

  bool numeric(std::size_t f) const { return params_.n_levels.empty() || params_.n_levels[f] == 0; }
  std::uint64_t sampled_mass(std::size_t i) const {
    return sample_mass_.empty() ? 1 : sample_mass_[i];
  }

  void run_dense();
  void fit_dense_group(std::size_t begin, std::size_t end, FitWorkspace& work,
                       std::vector<Open>& open);
  void gather(const double* column, FitWorkspace& work) const;
  void settle(const Open& open, std::vector<double> exact);
  void settle_dense(std::span<const Open> open);

  void run_sparse();
  void fit_sparse_column(std::size_t feature, std::span<const double> value,
                         std::span<const RowId> row, FitWorkspace& work);
  void settle_sparse(const Open& open, std::span<const double> value, std::span<const RowId> row);

  const Input& input_;
  std::span<const double> weight_;
  const BinningParams& params_;
  const Context& context_;
  MassScale scale_;
  RowSample sample_;
  std::vector<std::uint64_t> sample_mass_;  // empty: one each
  std::uint64_t total_mass_ = 0;            // of the sample
  std::vector<FeatureBins> features_;
};

}  // namespace committee
