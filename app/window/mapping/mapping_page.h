#pragma once

// The mapping document: how one operator is placed on the drawn array. A mapper searches while its best so far is
// shown; the loops can then be changed by hand, and every change is answered at once.

#include "app/window/page.h"
#include "hardware/views/spatial_array_view.h"
#include "mapping/problem_of_operator.h"
#include "methods/method.h"
#include "widgets/common/snapshot.h"

#include <QTimer>

class QComboBox;
class QPushButton;
class QSpinBox;
class QStackedLayout;
class QTabWidget;

namespace orrery::ui {
class EmptyPage;
class Label;
class LoopNestView;
class MapperScatter;
class SystolicAnimation;
class Veil;
}  // namespace orrery::ui

namespace orrery::app {

class MappingBound;
class MappingFusion;
class MappingSearch;

class MappingPage : public Page {
    Q_OBJECT
public:
    explicit MappingPage(ui::Selection* selection, QWidget* parent = nullptr);
    MappingPage(Studio& studio, QWidget* parent);
    ~MappingPage() override;

    PageCard card() const override;
    void join(Studio& studio) override;

    /// What is asked about now. Looked into only while the page is seen.
    void setScenario(HardwarePtr hardware, WorkloadPtr workload);
    /// The views are null until the page is made.
    ui::LoopNestView* nest() const { return nest_; }
    MappingSearch* search() const { return search_; }
    MappingBound* bound() const { return bound_; }
    MappingFusion* fusion() const { return fusion_; }

signals:
    void refused(const orrery::Diagnostic& why);
    void exampleRequested();  ///< a project with an array is to be opened
    void arrayRequested();    ///< an array is to join this one

protected:
    void build() override;
    void showEvent(QShowEvent* event) override;

private:
    QWidget* buildHead(QWidget* page);
    void refresh();
    void showEmpty(bool wantsArray);
    void readOperators();
    void followSelection();
    void chooseOperator(int row);
    void askSoon(int milliseconds);
    void startSearch();
    void showSearch();
    QString gapText() const;  ///< how far the best found may be from the best there is; empty where nothing is known
    void showResult();
    void showRefusal(const Diagnostic& why);
    void showArray();

    ui::Selection* selection_;
    MappingSearch* search_;
    HardwarePtr hardware_;
    WorkloadPtr workload_;
    HardwarePtr shownHardware_;  ///< what the page was last filled from
    WorkloadPtr shownWorkload_;
    std::optional<SpatialArrayView> view_;
    std::vector<int> operators_;       ///< of each row of the chooser
    std::vector<OperatorNest> nests_;  ///< of the chosen operator
    bool asFound_ = false;             ///< the mapping shown is the search's, not edited by hand
    bool withoutEnergies_ = false;
    QTimer soon_;  ///< edits in one burst become one search

    QStackedLayout* stack_ = nullptr;
    ui::EmptyPage* empty_ = nullptr;
    QPushButton *example_ = nullptr, *array_ = nullptr;  ///< ways on from a design without one
    QComboBox *operator_ = nullptr, *part_ = nullptr, *mapper_ = nullptr, *objective_ = nullptr;
    QSpinBox* seed_ = nullptr;
    QPushButton* run_ = nullptr;
    ui::Label* state_ = nullptr;
    ui::LoopNestView* nest_ = nullptr;
    QTabWidget* side_ = nullptr;
    ui::MapperScatter* scatter_ = nullptr;
    ui::Veil* veil_ = nullptr;  ///< over what answers an earlier question
    ui::SystolicAnimation* animation_ = nullptr;
    MappingBound* bound_ = nullptr;
    MappingFusion* fusion_ = nullptr;
};

}  // namespace orrery::app
