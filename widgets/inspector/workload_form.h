#pragma once

#include "hardware/views/device_view.h"
#include "widgets/common/edit_phase.h"
#include "workload/workload.h"

#include <QScrollArea>

#include <map>

class QCheckBox;
class QPushButton;
class QVBoxLayout;

namespace orrery::ui {

class AttributeRow;
class FactList;
class Label;
class ProblemList;
class SectionHeader;
struct RowSpec;

/// The inspector's page of a workload: the options that it understands, its size, its warnings.
class WorkloadForm : public QScrollArea {
    Q_OBJECT
public:
    explicit WorkloadForm(QWidget* parent = nullptr);
    void show(const WorkloadRecipe& recipe, const WorkloadInfo* info, WorkloadPtr workload,
              std::shared_ptr<const DeviceView> device = nullptr);

signals:
    void edited(const orrery::WorkloadOptions& options, orrery::ui::EditPhase phase);
    void typeRequested(orrery::DType from, orrery::DType to);  ///< one that the device lacks, its nearest
    void knobRequested(const QString& path);                   ///< a search is to turn it: `batch`
    /// All of a graph that was read is to work in `type`, or as its file says: changes that do so, and the others.
    void whatIfsEdited(const std::vector<orrery::WhatIf>& all, const QString& type);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void build(const WorkloadInfo* info, bool transformer, bool fixedBatch, const QStringList& symbols);
    AttributeRow* addRow(const RowSpec& spec);
    void addCount(const QString& id, const QString& label, const QString& meaning, double low, double high);
    void addChoice(const QString& id, const QString& label, const QString& meaning, const QStringList& choices);
    void buildOffer();
    void offerType();
    void fill();
    void change(const QString& id, const QString& text, EditPhase phase);
    void arrange();

    WorkloadRecipe recipe_;
    WorkloadOptions usual_;
    WorkloadPtr workload_;
    std::shared_ptr<const DeviceView> device_;
    QString built_;
    std::map<QString, AttributeRow*> rows_;
    QWidget* page_ = nullptr;
    QVBoxLayout* column_ = nullptr;
    Label* title_ = nullptr;
    Label* description_ = nullptr;
    QCheckBox* flash_ = nullptr;
    Label* lacks_ = nullptr;  ///< a type that the device does not compute
    QPushButton* useNearest_ = nullptr;
    FactList* totals_ = nullptr;
    FactList* transformer_ = nullptr;
    SectionHeader* transformerHeader_ = nullptr;
    SectionHeader* problemsHeader_ = nullptr;
    ProblemList* problems_ = nullptr;
};

}  // namespace orrery::ui
