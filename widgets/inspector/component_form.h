#pragma once

#include "hardware/attributes.h"
#include "hardware/edit/tree_edit.h"
#include "widgets/inspector/inspector.h"

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
class TopologySection;
struct RowSpec;

/// The inspector's page of one component or of many: rows from the attributes' declarations; of many, those that all
/// have, with different values shown as mixed.
class ComponentForm : public QScrollArea {
    Q_OBJECT
public:
    explicit ComponentForm(QWidget* parent = nullptr);
    /// The last path is the current component.
    void show(HardwarePtr hardware, ComponentPaths paths, DeviceViewPtr device);
    void setPreset(HardwarePtr preset);
    void setProblems(const Diagnostics& problems);
    const ComponentPaths& paths() const { return paths_; }
    /// Brings its field into view and puts the focus there: `bandwidth`, `macs.bf16`. Without such a field: nothing.
    void editAttribute(const QString& id);

signals:
    void edited(const orrery::ComponentPaths& paths, const QString& attribute, const QString& text,
                orrery::ui::EditPhase phase);
    void removed(const orrery::ComponentPaths& paths, const QString& attribute);
    void turnRequested(const orrery::ComponentPath& path, const QString& attribute);
    void addRequested(const orrery::ComponentPath& parent, const std::vector<orrery::Component>& parts);
    void removeRequested(const orrery::ComponentPaths& paths);
    void moveRequested(const orrery::ComponentPath& path, const orrery::ComponentPath& parent, int index);
    void selectRequested(const orrery::ComponentPath& path);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void build();
    void typeInto(const QString& id);
    void buildHead();
    void buildIdentity();
    void buildAttributes();
    void addTable(const AttributeSpec& spec);
    AttributeRow* addRow(const RowSpec& spec);
    void connectRow(AttributeRow* row, const QString& id);
    void fill();
    void fillTitle();
    void showRows();
    void showDevice();
    void showProblems();
    void arrange();
    void send(const QString& id, const QString& text, EditPhase phase);
    void putBack(const QString& id);
    std::vector<const Component*> components() const;
    const Component& current() const { return *componentAt(hardware_->root, paths_.back()); }
    bool sameMesh() const;
    QString signature() const;

    HardwarePtr hardware_, preset_;
    ComponentPaths paths_;
    DeviceViewPtr device_;
    Diagnostics problems_;
    bool building_ = false;
    QString added_;  ///< id of a row that was asked for and is to be typed into
    QString built_;  ///< signature of the component for which the rows stand
    std::map<QString, AttributeRow*> rows_;
    std::vector<std::pair<QString, ComponentPaths>> before_;  ///< spellings before a drag over many
    std::set<QString> kept_;                                  ///< rows that have had a value since they were built
    bool all_ = false;                                        ///< rows without a value are shown too
    QWidget* page_ = nullptr;
    QVBoxLayout* column_ = nullptr;
    Label* title_ = nullptr;
    Label* subtitle_ = nullptr;
    QToolButton* more_ = nullptr;
    TopologySection* topology_ = nullptr;  ///< of one topology
    SectionHeader* deviceHeader_ = nullptr;
    FactList* deviceFacts_ = nullptr;
    SectionHeader* problemsHeader_ = nullptr;
    ProblemList* problemList_ = nullptr;
};

}  // namespace orrery::ui
