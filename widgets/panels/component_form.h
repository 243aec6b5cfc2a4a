#pragma once

#include "hardware/attributes.h"
#include "widgets/panels/inspector.h"

#include <QScrollArea>

#include <map>
#include <set>

class QToolButton;
class QVBoxLayout;

namespace orrery::ui {

class AttributeRow;
class FactList;
class Label;
class ProblemList;
class SectionHeader;
struct RowSpec;

/// The inspector's page of a component: rows from the attributes' declarations.
class ComponentForm : public QScrollArea {
    Q_OBJECT
public:
    explicit ComponentForm(QWidget* parent = nullptr);
    void show(HardwarePtr hardware, const ComponentPath& path, DeviceViewPtr device);
    void setPreset(HardwarePtr preset);
    void setProblems(const Diagnostics& problems);
    const ComponentPath& path() const { return path_; }

signals:
    void edited(const orrery::ComponentPath& path, const QString& attribute, const QString& text,
                orrery::ui::EditPhase phase);
    void removed(const orrery::ComponentPath& path, const QString& attribute);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void build(const Component& component);
    void fill(const Component& component);
    AttributeRow* addRow(const RowSpec& spec);
    void addTable(const AttributeSpec& spec, const Component& component);
    void showRows();
    void showDevice();
    void showProblems();
    void arrange();
    QString signature(const Component& component) const;

    HardwarePtr hardware_, preset_;
    ComponentPath path_;
    DeviceViewPtr device_;
    Diagnostics problems_;
    bool building_ = false;
    QString built_;  ///< signature of the component for which the rows stand
    std::map<QString, AttributeRow*> rows_;
    std::set<QString> kept_;  ///< rows that have had a value since they were built
    bool all_ = false;        ///< rows without a value are shown too
    QWidget* page_ = nullptr;
    QVBoxLayout* column_ = nullptr;
    Label* title_ = nullptr;
    Label* subtitle_ = nullptr;
    QToolButton* more_ = nullptr;
    SectionHeader* deviceHeader_ = nullptr;
    FactList* deviceFacts_ = nullptr;
    SectionHeader* problemsHeader_ = nullptr;
    ProblemList* problemList_ = nullptr;
};

}  // namespace orrery::ui
